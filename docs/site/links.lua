-- Links between pages of the repository become links between pages of the site; other files that a page refers to are listed
-- in SITE_FILES, to be copied.
local page = os.getenv("SITE_PAGE")
local files = os.getenv("SITE_FILES")

local function outside(target)
  return target:match("^%a[%w+.-]*:") or target:match("^//") or target:match("^#") or target == ""
end

-- A path within the repository, from one that is relative to the page.
local function resolved(path)
  local parts = {}
  for part in ((page:match("^(.*)/[^/]*$") or "") .. "/" .. path):gmatch("[^/]+") do
    if part == ".." and #parts > 0 then
      table.remove(parts)
    elseif part ~= "." then
      table.insert(parts, part)
    end
  end
  return table.concat(parts, "/")
end

local function keep(path)
  local list = assert(io.open(files, "a"))
  list:write(resolved(path), "\n")
  list:close()
end

local function rewritten(target)
  if outside(target) then
    return target
  end
  local path, fragment = target:match("^([^#]*)(.*)$")
  if path:match("%.md$") then
    path = path:gsub("README%.md$", "index.html"):gsub("%.md$", ".html")
  elseif resolved(path) == "docs/adr" then
    path = path:gsub("/$", "") .. "/index.html"
  else
    keep(path)
  end
  return path .. fragment
end

function Link(link)
  link.target = rewritten(link.target)
  return link
end

function Image(image)
  image.src = rewritten(image.src)
  return image
end

-- Wide tables scroll by themselves, so that a page stays as wide as a phone.
function Table(table)
  return pandoc.Div({ table }, pandoc.Attr("", { "scroll" }, { tabindex = "0", role = "region", ["aria-label"] = "table" }))
end
